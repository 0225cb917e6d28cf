import type { z } from 'zod'
import { approvalMethods } from './methods/approval.ts'
import { callMethods } from './methods/call.ts'
import { daemonMethods } from './methods/daemon.ts'
import { deviceMethods } from './methods/device.ts'
import { directoryMethods } from './methods/directory.ts'
import { eventMethods } from './methods/events.ts'
import { projectMethods } from './methods/project.ts'
import { queueMethods } from './methods/queue.ts'
import { searchMethods } from './methods/search.ts'
import { sessionMethods, turnMethods } from './methods/session.ts'
import { signinMethods } from './methods/signin.ts'
import { systemMethods } from './methods/system.ts'
import { usageMethods } from './methods/usage.ts'
import { worktreeMethods } from './methods/worktree.ts'

/** The whole API. */
export const METHODS = [
  ...daemonMethods,
  ...sessionMethods,
  ...turnMethods,
  ...queueMethods,
  ...usageMethods,
  ...approvalMethods,
  ...directoryMethods,
  ...callMethods,
  ...eventMethods,
  ...searchMethods,
  ...projectMethods,
  ...worktreeMethods,
  ...deviceMethods,
  ...signinMethods,
  ...systemMethods,
]

type AnyMethod = (typeof METHODS)[number]

/** Parameters and results by name, for the client. */
export type Api = {
  [M in AnyMethod as M['name']]: { params: z.input<M['params']>; result: z.output<M['result']> }
}
