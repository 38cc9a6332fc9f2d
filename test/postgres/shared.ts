/**
 * One cluster for all tests of a run: the first that needs it starts it, and the end of the run stops it (`setup`).
 */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Cluster from "./cluster.ts"

const VARIABLE = "REPRISE_TEST_CLUSTER"

/** Of vitest: before the first test, and after the last one. */
export const setup = (): (() => Promise<void>) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-postgres-"))
  process.env[VARIABLE] = directory
  return async () => {
    await Cluster.at(path.join(directory, "shared")).stop("immediate")
    fs.rmSync(directory, { recursive: true, force: true })
  }
}

const started = async (): Promise<Cluster.Cluster> => {
  const directory = process.env[VARIABLE]!
  const cluster = path.join(directory, "shared")
  const ready = path.join(directory, "ready")
  // Workers of one run ask at the same time: who can make the directory starts it.
  const mine = fs.mkdirSync(cluster, { recursive: true }) !== undefined
  if (mine) {
    fs.chmodSync(directory, 0o755)
    await Cluster.make(cluster).start()
    fs.writeFileSync(ready, "")
  }
  while (!fs.existsSync(ready)) await new Promise((done) => setTimeout(done, 50))
  return Cluster.at(cluster)
}

/** The cluster of this run, started. */
export const cluster = Effect.promise(started)
