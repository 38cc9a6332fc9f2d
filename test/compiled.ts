/** What the first process of a test compiles, the others only load: most of a kill test is the start of its programs. */
import { fileURLToPath } from "node:url"

/** The environment for a program of ours. */
export const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/reprise/compiled", import.meta.url))
}
