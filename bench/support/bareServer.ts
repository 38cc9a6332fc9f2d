/**
 * The least that a server of the protocol can do, in plain Node: take a body, find its last id, compare `Last-Uuid` with what
 * it has, answer with the headers.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { serves } from "./remoteProcess.ts"

const heads = new Map<string, string>()

const server = http.createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const at = request.url!
    const head = heads.get(at)
    if (head !== undefined && head !== request.headers["last-uuid"])
      return response.writeHead(409, { "x-last-uuid": head, "content-length": 0 }).end()
    const { k, uuid = k } = JSON.parse(Buffer.concat(parts).toString().trimEnd().split("\n").at(-1)!)
    heads.set(at, uuid)
    const text = `{"head":"${uuid}","seq":1,"duplicate":false}`
    response.writeHead(201, {
      "x-last-uuid": uuid,
      "x-last-seq": "1",
      "x-writer-epoch": "0",
      "x-backend-id": "bench",
      "content-type": "application/json",
      "content-length": text.length
    })
    return response.end(text)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => serves((server.address() as AddressInfo).port))
