/** Sessions with all that lies beside them, and archives that nobody should trust. */
import * as Notation from "@reprise/domain/testing/Notation"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import * as Temporary from "./temporary.ts"

export const sessionId = "0f0f0f0f-0000-4000-8000-0000000000b1"

/** A configuration directory with projects, and what is in it. */
export const home = Effect.map(Temporary.directory, (root) => {
  const config = path.join(root, "config")
  const projects = path.join(config, "projects")
  const put = (name: string, content: string | Uint8Array): string => {
    const file = path.join(config, name)
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    fs.writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  const tree = (): Record<string, string> =>
    Object.fromEntries(
      fs.existsSync(config)
        ? fs
            .readdirSync(config, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => path.join(entry.parentPath, entry.name))
            .toSorted()
            .map((file) => [path.relative(config, file), fs.readFileSync(file, "latin1")])
        : []
    )
  return { root, config, projects, put, tree, layer: FileEntryLog.layerWith({ projects }) }
})

type Home = Effect.Success<typeof home>

/** A log in which each message is of a directory. */
export const logIn = (cwd: string, picture = "u1-a1"): string =>
  new TextDecoder()
    .decode(Notation.bytes(picture))
    .trimEnd()
    .split("\n")
    .map((line) => `${JSON.stringify({ ...JSON.parse(line), cwd, sessionId })}\n`)
    .join("")

/** Puts a session of `/old/work` with agents, results and backups into a home. */
export const session = ({ put }: Home, id = sessionId, log = logIn("/old/work")) => {
  const project = "projects/-old-work"
  put(`${project}/${id}/subagents/agent-abc.jsonl`, logIn("/old/work/sub", "u1~abc"))
  put(`${project}/${id}/subagents/agent-abc.meta.json`, "{}")
  put(`${project}/${id}/tool-results/x.txt`, "/old/work stays here")
  put(`file-history/${id}/${"é".repeat(60)}@v1`, new Uint8Array([0, 255]))
  return put(`${project}/${id}.jsonl`, log)
}

interface Member {
  readonly name: string
  readonly content?: string
  readonly type?: string
  readonly link?: string
}

/** An archive of anything, by the rules of tar alone. */
export const tar = (members: ReadonlyArray<Member>): Buffer =>
  Buffer.concat([
    ...members.flatMap(({ content = "", link = "", name, type = "0" }) => {
      const header = Buffer.alloc(512)
      const bytes = Buffer.from(content)
      header.write(name, 0, 100)
      header.write(
        `0000600\0${"0000000\0".repeat(2)}${bytes.length.toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0        `,
        100
      )
      header.write(type, 156)
      header.write(link, 157)
      header.write("ustar\u000000", 257)
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, "0")}\0 `,
        148
      )
      return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
    }),
    Buffer.alloc(1024)
  ])

/** A bundle whose manifest announces what follows it, unless it says otherwise. */
export const bundle = (members: ReadonlyArray<Member>, manifest: object = {}): Buffer => {
  const files = members.map(({ content = "", name }) => ({
    name,
    size: Buffer.byteLength(content),
    sha256: createHash("sha256").update(content).digest("hex")
  }))
  const said = { format: "reprise-session-bundle", version: 1, sessionId, cwd: "/old/work", files, ...manifest }
  return zlib.gzipSync(tar([{ name: "manifest.json", content: JSON.stringify(said) }, ...members]))
}
