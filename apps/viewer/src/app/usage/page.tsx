import { UsagePage } from "../../usage/UsagePage.tsx"

export default UsagePage
