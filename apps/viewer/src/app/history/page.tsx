import { HistoryPage } from "../../history/HistoryPage.tsx"

export default HistoryPage
