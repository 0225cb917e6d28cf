import type { z } from 'zod'
import { adoptionMethods } from './methods/adoption.ts'
import { approvalMethods } from './methods/approval.ts'
import { attentionMethods } from './methods/attention.ts'
import { callMethods } from './methods/call.ts'
import { conversationMethods } from './methods/conversation.ts'
import { changeMethods } from './methods/changes.ts'
import { checkpointMethods } from './methods/checkpoint.ts'
import { daemonMethods } from './methods/daemon.ts'
import { demoMethods } from './methods/demo.ts'
import { deviceMethods } from './methods/device.ts'
import { directoryMethods } from './methods/directory.ts'
import { discoverMethods } from './methods/discover.ts'
import { doorMethods } from './methods/door.ts'
import { eventMethods } from './methods/events.ts'
import { fileMethods } from './methods/files.ts'
import { machineMethods, memberMethods } from './methods/machine.ts'
import { projectMethods } from './methods/project.ts'
import { relayMethods } from './methods/relay.ts'
import { queueMethods } from './methods/queue.ts'
import { reviewMethods } from './methods/review.ts'
import { searchMethods } from './methods/search.ts'
import { sessionMethods, turnMethods } from './methods/session.ts'
import { signinMethods } from './methods/signin.ts'
import { systemMethods } from './methods/system.ts'
import { usageMethods } from './methods/usage.ts'
import { worktreeMethods } from './methods/worktree.ts'

/** The whole API. */
export const METHODS = [
  ...daemonMethods,
  ...discoverMethods,
  ...sessionMethods,
  ...adoptionMethods,
  ...turnMethods,
  ...queueMethods,
  ...usageMethods,
  ...attentionMethods,
  ...approvalMethods,
  ...directoryMethods,
  ...callMethods,
  ...eventMethods,
  ...conversationMethods,
  ...searchMethods,
  ...projectMethods,
  ...worktreeMethods,
  ...fileMethods,
  ...changeMethods,
  ...checkpointMethods,
  ...reviewMethods,
  ...deviceMethods,
  ...doorMethods,
  ...signinMethods,
  ...demoMethods,
  ...systemMethods,
  ...relayMethods,
  ...machineMethods,
  ...memberMethods,
]

type AnyMethod = (typeof METHODS)[number]

/** Parameters and results by name, for the client. */
export type Api = {
  [M in AnyMethod as M['name']]: { params: z.input<M['params']>; result: z.output<M['result']> }
}
