import { SessionsPage } from "../sessions/SessionsPage.tsx"

export default SessionsPage
