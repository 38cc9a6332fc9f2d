import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"
import { hold } from "./subjects.ts"

hold("Chain", RecoveryLaws.groups.chain)
