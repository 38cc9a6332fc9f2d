/** What appending to a remote costs at least: clients in plain Node, and databases without a rule. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as crypto from "node:crypto"
import * as http from "node:http"
import { DatabaseSync } from "node:sqlite"

/** An entry to be sent. */
export interface Sent {
  readonly uuid: string
  readonly text: string
}

/** Sends a body behind a last id; fails where it is not stored. */
export type Send = (session: string, body: string, last: string | undefined) => Promise<void>

/** The headers of an append. */
export const headersOf = (last: string | undefined, isBatch: boolean) => ({
  authorization: "Bearer bench",
  "content-type": isBatch ? "application/x-ndjson" : "application/json",
  ...(last !== undefined && { "last-uuid": last })
})

const isBatch = (body: string): boolean => body.startsWith('{"k":')
/** Where a session is. */
export const pathOf = (session: string): string => `/v1/session_ingress/session/${session}`

/** `node:http` with connections that are kept. */
export const plain = (port: number): Send => {
  const agent = new http.Agent({ keepAlive: true })
  return (session, body, last) =>
    new Promise((done, fail) => {
      const bytes = Buffer.from(body)
      const headers = { ...headersOf(last, isBatch(body)), "content-length": bytes.length }
      const options = { host: "127.0.0.1", port, path: pathOf(session), method: "PUT", agent, headers }
      const request = http.request(options, (response) => {
        response.resume()
        response.on("end", () =>
          response.statusCode === 201 ? done() : fail(new Error(`expected status 201, found ${response.statusCode}`))
        )
      })
      request.on("error", fail)
      request.end(bytes)
    })
}

/** The global `fetch`. */
export const fetched =
  (port: number): Send =>
  async (session, body, last) => {
    const headers = headersOf(last, isBatch(body))
    const response = await fetch(`http://127.0.0.1:${port}${pathOf(session)}`, { method: "PUT", body, headers })
    await response.arrayBuffer()
    if (response.status !== 201) throw new Error(`expected status 201, found ${response.status}`)
  }

const table = (text: string, key: string) =>
  `CREATE TABLE entry (stream_id ${text}, seq bigint, key ${text}, hash ${text}, body ${text}, PRIMARY KEY (stream_id, seq))${key}`

/** A row a transaction, synced, in SQLite; nothing is looked at. */
export const sqliteInsert = (file: string) => {
  const database = new DatabaseSync(file)
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${table("TEXT", " STRICT").replace("bigint", "INTEGER")}`
  )
  const insert = database.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?)")
  return (stream: string, seq: number, { text, uuid }: Sent): void => {
    insert.run(stream, seq, uuid, crypto.hash("sha256", text, "base64url"), text)
  }
}

/** The same in PostgreSQL. */
export const postgresInsert = async (url: string) => {
  const client = PgClient.layer({ url: Redacted.make(url) })
  const runtime = ManagedRuntime.make(Layer.orDie(client))
  const sql = await runtime.runPromise(PgClient.PgClient)
  await runtime.runPromise(sql`${sql.literal(table("text", ""))}`)
  return (stream: string, seq: number, { text, uuid }: Sent): Promise<void> => {
    const hash = crypto.hash("sha256", text, "base64url")
    return runtime.runPromise(
      Effect.asVoid(sql`INSERT INTO entry VALUES (${stream}, ${seq}, ${uuid}, ${hash}, ${text})`)
    )
  }
}
