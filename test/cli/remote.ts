/** Two homes and a server between them, for commands that talk to a remote. */
import * as IngressStore from "@reprise/ingress/IngressStore"
import { Context, Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { directory, sessionId, text } from "../ingress/hydrated.ts"
import { Served, serve } from "../ingress/serving.ts"
import { run } from "./running.ts"

export { sessionId, text }

/** A directory of projects with a file that holds a token; `reprise` runs a command there, with the server's address. */
const home = Effect.fnUntraced(function* (url: string, token: string) {
  const root = yield* directory
  const projects = path.join(root, "projects")
  const project = path.join(projects, "-work")
  fs.mkdirSync(project, { recursive: true, mode: 0o700 })
  const tokenFile = path.join(root, "token")
  fs.writeFileSync(tokenFile, `${token}\n`)
  const main = path.join(project, `${sessionId}.jsonl`)
  const reprise = (...args: ReadonlyArray<string>) =>
    run(...args, "--projects", projects, "--url", url, "--token-file", tokenFile)
  return { root, projects, project, main, tokenFile, reprise }
})

/** The server, two homes, and how a session is written, read and claimed without the command. */
export const world = Effect.gen(function* () {
  const context = yield* Layer.build(serve(IngressStore.layerMemory))
  const { token, url } = Context.get(context, Served)
  const store = Context.get(context, IngressStore.IngressStore)
  const there = (sub = "") =>
    store.read({ tenant: "t", session: sessionId, sub }, { after: 0, lines: 1_000, bytes: 1 << 30 }).pipe(
      Effect.map(({ lines }) => lines.map((line) => `${line.text}\n`).join("")),
      Effect.orElseSucceed(() => undefined)
    )
  const here = yield* home(url, token("t"))
  const elsewhere = yield* home(url, token("t"))
  return { here, elsewhere, there, store, url, token }
})
