import { GraphPage } from "../../graph/GraphPage.tsx"

export default GraphPage
