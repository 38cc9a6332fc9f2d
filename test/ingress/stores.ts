/** Stores for the tests of one file: each is opened once, and closed after the last of them. */
import * as PostgresIngressStore from "@reprise/ingress/PostgresIngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import { Effect, Layer, Redacted } from "effect"
import * as path from "node:path"
import * as Shared from "../postgres/shared.ts"
import * as Temporary from "./temporary.ts"

/** A file for a store, in a directory of its own. */
export const fileIn = Effect.map(Temporary.directory, (directory) => path.join(directory, "ingress.db"))

export const sqlite = Layer.unwrap(Effect.map(fileIn, (file) => SqliteIngressStore.layer({ file })))

/** The store in the database at this URL. */
export const at = (url: string) => PostgresIngressStore.layer({ url: Redacted.make(url) })

/** In the cluster of this run; where there is none (`Cluster.binaries`) it cannot be built. */
export const postgres = Layer.unwrap(Effect.map(Shared.cluster, ({ url }) => at(url)))
