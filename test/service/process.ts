/** The example service as a process that can be killed and started again. */
import { fileURLToPath } from "node:url"
import * as Running from "../running.ts"

const program = fileURLToPath(new URL("../../examples/agent-service/main.ts", import.meta.url))

/** Starts the service over logs below `projects`; `pause` is what its model takes for a line, in ms. */
export const start = (projects: string, pause: number): Running.Running =>
  Running.start([program, projects, "0", String(pause)])
