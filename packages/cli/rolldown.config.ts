/**
 * The command as it is published: one file that holds of everything what it calls, Effect included, so that it starts in
 * a third of the time that its modules take. What `reprise serve` alone needs is in files beside it, below `reprise/`: the
 * server, and the thread of its database. For programs the modules stand beside it, each by itself.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { defineConfig, type Plugin } from "rolldown"

/** The licences of what is not ours stay with what is taken of it. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
    const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
    const texts = Array.from(packages, (directory) => {
      const { name, version } = JSON.parse(fs.readFileSync(path.join(directory, "package.json"), "utf8"))
      return `${name} ${version}\n\n${fs.readFileSync(path.join(directory, "LICENSE"), "utf8")}`
    })
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: texts.toSorted().join("\n---\n\n") })
  }
}

export default defineConfig({
  input: { reprise: "src/main.ts", sqliteWorker: "../ingress/src/internal/sqlite/sqliteWorker.ts" },
  platform: "node",
  output: {
    dir: "dist",
    entryFileNames: ({ name }) => (name === "reprise" ? "reprise.js" : "reprise/[name].js"),
    chunkFileNames: "reprise/[name].js",
    comments: false
  },
  plugins: [licences]
})
