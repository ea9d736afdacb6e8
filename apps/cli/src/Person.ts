/** Who is at this machine, so that exports can leave it unsaid. */
import { basename } from "node:path"
import type { Surroundings } from "./Environment.ts"

export const personOf = ({ userHome, variables }: Surroundings) => ({
  home: userHome,
  user: variables.USER || variables.LOGNAME || variables.USERNAME || basename(userHome)
})
