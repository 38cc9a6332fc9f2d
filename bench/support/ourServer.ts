/** `IngressServer` over a store: `memory`, `sqlite FILE` or `postgres URL`. Whoever has a token may do all. */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as IngressServer from "@reprise/ingress/IngressServer"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as Limits from "@reprise/ingress/Limits"
import * as NodeServer from "@reprise/ingress/NodeServer"
import * as PostgresIngressStore from "@reprise/ingress/PostgresIngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import * as TokenVerifier from "@reprise/ingress/TokenVerifier"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpServer from "effect/http/HttpServer"
import { serves } from "./remoteProcess.ts"

const [kind = "memory", at = ""] = process.argv.slice(2)
const store = {
  memory: IngressStore.layerMemory,
  sqlite: SqliteIngressStore.layer({ file: at }),
  postgres: PostgresIngressStore.layer({ url: Redacted.make(at) })
}[kind as "memory" | "sqlite" | "postgres"]
const limits = { ...Limits.defaults, burst: 1e9, rate: 1e9 }
const verifier = Layer.succeed(TokenVerifier.TokenVerifier, {
  verify: () => Effect.succeed({ tenant: "bench", scopes: ["admin"] })
})
const told = Layer.effectDiscard(
  Effect.map(HttpServer.HttpServer, ({ address }) => serves((address as { readonly port: number }).port))
)
const server = IngressServer.layer(NodeHttpServer.layer(() => NodeServer.make(limits), { host: "127.0.0.1", port: 0 }))

await Effect.runPromise(
  Layer.launch(told.pipe(Layer.provide(server), Layer.provide([store, verifier, Layer.succeed(Limits.Limits, limits)])))
)
