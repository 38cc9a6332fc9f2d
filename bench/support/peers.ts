/**
 * Other libraries that read transcripts, where somebody has installed them: `--peers DIR`, a directory with node_modules.
 */
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { timed, type Args, type Variant } from "./compare.ts"
import { peakMb } from "./memory.ts"
import { session } from "./transcript.ts"

const AGENT_SDK = "@anthropic-ai/claude-agent-sdk"

const resolve = (peers: string): string | undefined => {
  try {
    return createRequire(path.join(path.resolve(peers), "/")).resolve(AGENT_SDK)
  } catch {
    return undefined
  }
}

/** The variants of peers that are there. */
export const installed = (peers: string): ReadonlyArray<string> =>
  peers !== "" && resolve(peers) !== undefined ? ["sdk"] : []

/** Reading a session with the peer, from where it looks for sessions. */
export const variants: { readonly [name: string]: Variant } = {
  sdk: {
    few: true,
    note: `peer: getSessionMessages of ${AGENT_SDK}`,
    setup: async ({ file, peers, scratch }: Args) => {
      const config = fs.mkdtempSync(path.join(scratch, "peer-"))
      const project = path.join(config, "projects", fs.realpathSync(scratch).replaceAll(/[^a-zA-Z0-9]/g, "-"))
      fs.mkdirSync(project, { recursive: true })
      fs.linkSync(String(file), path.join(project, `${session}.jsonl`))
      process.env["CLAUDE_CONFIG_DIR"] = config
      const sdk = await import(pathToFileURL(resolve(String(peers))!).href)
      return { sdk, scratch, before: peakMb(), held: {} }
    },
    run: async ({ before, held, scratch, sdk }) => {
      const time = await timed(async () => {
        held.messages = await sdk.getSessionMessages(session, { dir: fs.realpathSync(scratch) })
      })
      if (held.messages.length === 0) throw new Error("Error: the peer found no messages")
      return { n: 1, ...time, growthMb: Math.round(peakMb() - before) }
    }
  }
}
