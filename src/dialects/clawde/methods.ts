import type { ClawdeMethod } from './method.ts'
import { daemonMethods } from './methods/daemon.ts'
import { deviceMethods } from './methods/device.ts'
import { eventMethods } from './methods/events.ts'
import { messageMethods } from './methods/message.ts'
import { projectMethods } from './methods/project.ts'
import { repoMethods } from './methods/repo.ts'
import { sessionMethods } from './methods/session.ts'
import { systemMethods } from './methods/system.ts'
import { toolMethods } from './methods/tool.ts'
import { updateMethods } from './methods/update.ts'
import { worktreeMethods } from './methods/worktree.ts'

export const METHODS = [
  ...daemonMethods,
  ...sessionMethods,
  ...messageMethods,
  ...toolMethods,
  ...repoMethods,
  ...worktreeMethods,
  ...projectMethods,
  ...deviceMethods,
  ...systemMethods,
  ...updateMethods,
  ...eventMethods,
] as unknown as readonly ClawdeMethod[]
