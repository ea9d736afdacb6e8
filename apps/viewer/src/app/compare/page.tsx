import { ComparePage } from "../../compare/ComparePage.tsx"

export default ComparePage
