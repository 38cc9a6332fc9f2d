import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"
import { hold } from "./subjects.ts"

hold("Rewinds", RecoveryLaws.groups.rewinds)
