import type { LoafMethod } from './method.ts'
import { authMethods } from './methods/auth.ts'
import { commandMethods } from './methods/command.ts'
import { historyMethods } from './methods/history.ts'
import { modelMethods } from './methods/model.ts'
import { sessionMethods } from './methods/session.ts'
import { handshakeMethod, systemMethods } from './methods/system.ts'

export const METHODS: readonly LoafMethod[] = [
  handshakeMethod(() => METHODS),
  ...sessionMethods,
  ...commandMethods,
  ...historyMethods,
  ...modelMethods,
  ...authMethods,
  ...systemMethods,
]
