import { SessionPage } from "../../session/SessionPage.tsx"

export default SessionPage
