/**
 * Jobs: what is written to the database, many in one transaction, so that they share one sync of the disk.
 *
 * What is refused writes nothing, so it cannot spoil the transaction of its neighbours. Where one breaks it all the same
 * (the disk is full, a line too long for the database), each is tried again in a transaction of its own.
 */
import { Buffer } from "node:buffer"
import type { DatabaseSync } from "node:sqlite"
import * as AppendChain from "../../AppendChain.ts"
import type { Head } from "../../IngressStore.ts"
import type { Answer, Job, Judged, Line } from "./messages.ts"

/** A row of `ingress_stream`, as far as writing needs it. */
interface Row {
  readonly id: number
  readonly last_seq: number
  readonly last_uuid: string | null
  readonly epoch: number
  readonly bytes: number
  readonly updated_at: number
  readonly deleted_at: number | null
}

type Of<Type extends Job["type"]> = Extract<Job, { readonly type: Type }>

/** Writes to the database; it throws nothing. */
export const make = (database: DatabaseSync) => {
  const find = database.prepare("SELECT * FROM ingress_stream WHERE tenant = ? AND session = ? AND sub = ?")
  const create = database.prepare(
    "INSERT INTO ingress_stream (tenant, session, sub, epoch, updated_at) VALUES (?, ?, ?, ?, ?) RETURNING *"
  )
  const known = database.prepare("SELECT seq, hash FROM ingress_entry WHERE stream_id = ? AND key = ?")
  const insert = database.prepare(
    "INSERT INTO ingress_entry (stream_id, seq, key, hash, kind, body) VALUES (?, ?, ?, ?, ?, ?)"
  )
  const grow = database.prepare(
    `UPDATE ingress_stream SET last_seq = ?, last_uuid = ?, bytes = bytes + ?, boundary_seq = max(boundary_seq, ?),
       said_first = json_patch(?, said_first), said_last = json_patch(said_last, ?), updated_at = ? WHERE id = ?`
  )
  const raise = database.prepare("UPDATE ingress_stream SET epoch = ?, writer = ? WHERE tenant = ? AND session = ?")
  const bury = database.prepare("UPDATE ingress_stream SET deleted_at = ? WHERE tenant = ? AND session = ?")
  const drop = database.prepare(
    "DELETE FROM ingress_entry WHERE stream_id IN (SELECT id FROM ingress_stream WHERE tenant = ? AND session = ?)"
  )

  const rowOf = (tenant: string, session: string, sub: string) => find.get(tenant, session, sub) as Row | undefined
  const mainOf = (tenant: string, session: string, now: number): Row =>
    rowOf(tenant, session, "") ?? (create.get(tenant, session, "", 0, now) as unknown as Row)

  const headOf = (row: Row | undefined, epoch: number, attempt: AppendChain.Attempt): AppendChain.Head => {
    const found = new Map<string, { readonly seq: number; readonly hash: string }>()
    if (row !== undefined)
      for (const { key } of attempt.lines) {
        const place = known.get(row.id, key) as { readonly seq: number; readonly hash: string } | undefined
        if (place !== undefined) found.set(key, place)
      }
    return { uuid: row?.last_uuid ?? undefined, seq: row?.last_seq ?? 0, epoch, known: found }
  }

  const add = (row: Row, from: AppendChain.Position, lines: ReadonlyArray<Line>, job: Of<"append">) => {
    let bytes = 0
    let boundary = 1
    for (const [i, { hash, key, kind, text }] of lines.entries()) {
      const seq = from.seq + 1 + i
      insert.run(row.id, seq, key, hash, kind, text)
      bytes += Buffer.byteLength(text)
      if (kind === "boundary") boundary = seq
    }
    const after = AppendChain.advance(from, lines)
    const [first, last] = [JSON.stringify(job.digest.first), JSON.stringify(job.digest.last)]
    grow.run(after.seq, after.uuid ?? null, bytes, boundary, first, last, job.now, row.id)
    return after
  }

  const append = (job: Of<"append">): Answer => {
    const { session, sub, tenant } = job.stream
    const row = rowOf(tenant, session, sub)
    const whole = row ?? rowOf(tenant, session, "")
    if (whole !== undefined && whole.deleted_at !== null) return { refused: "Deleted" }
    const epoch = whole?.epoch ?? 0
    const head = headOf(row, epoch, job.attempt)
    const verdict = AppendChain.judge(head, job.attempt)
    const lines = AppendChain.linesOf(verdict)
    if (lines.length === 0) return { value: { ...bare(verdict), after: head, epoch } satisfies Judged }
    const main = sub === "" ? mainOf(tenant, session, job.now) : undefined
    if (sub !== "") mainOf(tenant, session, job.now)
    const mine = row ?? main ?? (create.get(tenant, session, sub, epoch, job.now) as unknown as Row)
    return { value: { ...bare(verdict), after: add(mine, head, lines, job), epoch } satisfies Judged }
  }

  const claim = ({ now, session, tenant, writer }: Of<"claim">): Answer => {
    const row = mainOf(tenant, session, now)
    if (row.deleted_at !== null) return { refused: "Deleted" }
    const epoch = row.epoch + 1
    raise.run(epoch, writer, tenant, session)
    const { bytes, last_seq: seq, last_uuid: uuid, updated_at: updatedAt } = row
    return { value: { uuid: uuid ?? undefined, seq, epoch, bytes, updatedAt } satisfies Head }
  }

  const remove = ({ now, session, tenant }: Of<"remove">): Answer => {
    const row = rowOf(tenant, session, "")
    if (row === undefined || row.deleted_at !== null) return { refused: "NotFound" }
    bury.run(now, tenant, session)
    drop.run(tenant, session)
    return { value: undefined }
  }

  const one = (job: Job): Answer => {
    switch (job.type) {
      case "append":
        return append(job)
      case "claim":
        return claim(job)
      case "remove":
        return remove(job)
    }
  }

  return (jobs: ReadonlyArray<Job>): ReadonlyArray<Answer> => {
    const together = transaction(database, () => jobs.map(one))
    if (!("failed" in together)) return together.value
    if (jobs.length === 1) return [together]
    return jobs.map((job) => {
      const alone = transaction(database, () => one(job))
      return "failed" in alone ? alone : alone.value
    })
  }
}

/** A verdict as it is told: texts are not sent back. */
const bare = (verdict: AppendChain.Verdict): Pick<Judged, "verdict" | "grew"> => ({
  verdict: "lines" in verdict ? { ...verdict, lines: [] } : verdict,
  grew: AppendChain.linesOf(verdict).length > 0
})

/** All of it, or none and what went wrong. */
const transaction = <A>(database: DatabaseSync, run: () => A): { readonly value: A } | { readonly failed: string } => {
  try {
    database.exec("BEGIN IMMEDIATE")
    const value = run()
    database.exec("COMMIT")
    return { value }
  } catch (cause) {
    try {
      if (database.isTransaction) database.exec("ROLLBACK")
    } catch {
      // The database ended the transaction itself.
    }
    return { failed: String(cause) }
  }
}
