import { NotFound } from "../shared/NotFound.tsx"

export default NotFound
