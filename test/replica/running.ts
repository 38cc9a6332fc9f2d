/** A replicator as a process. */
import type * as ReplicaStatus from "@reprise/ingress/ReplicaStatus"
import { fileURLToPath } from "node:url"
import * as Running from "../running.ts"

const program = fileURLToPath(new URL("replicator.ts", import.meta.url))

/** What it prints: its status, and what it held at most so far, in bytes. */
export type Told = ReplicaStatus.ReplicaStatus & {
  readonly held: { readonly read: number; readonly batch: number; readonly rss: number }
}

/** `batchBytes`: how much it sends at once, where that is not what it sends of itself. */
export const start = (main: string, url: string, { batchBytes }: { readonly batchBytes?: number } = {}) => {
  const running = Running.start(["--no-warnings", program, main, url, ...(batchBytes ? [`${batchBytes}`] : [])])
  const told = (): ReadonlyArray<Told> =>
    running
      .logged()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Told] : []))
  /** Waits until it tells what is asked for, after so many lines that it told before. */
  const until = async (is: (told: Told) => boolean, from = 0, seconds = 60): Promise<Told> => {
    for (let waited = 0; waited < seconds * 20; waited++) {
      const found = told().slice(from).find(is)
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`it never told that:\n${running.logged().slice(-2000)}`)
  }
  return { ...running, told, until }
}
