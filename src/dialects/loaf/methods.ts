import { execute } from './commands.ts'
import type { Methods } from './context.ts'
import { authMethods, moreAuthMethods } from './methods/auth.ts'
import { modelMethods } from './methods/model.ts'
import { moreSessionMethods, sessionMethods } from './methods/session.ts'
import { handshake, systemMethods } from './methods/system.ts'
import { paramsOf } from './params.ts'

const ORIGINAL: Methods = {
  ...systemMethods,
  ...sessionMethods,
  ...authMethods,
  ...modelMethods,
  async 'command.execute'(params, context) {
    const given = paramsOf('command.execute', params)
    const sessionId = given.text('session_id')
    const raw = given.text('raw_command')
    return execute(sessionId, raw, context)
  },
  'rpc.handshake': (params) => handshake(params, NAMES, EXTENSIONS),
}

const MORE: Methods = { ...moreSessionMethods, ...moreAuthMethods }

const NAMES = Object.keys(ORIGINAL).sort()
const EXTENSIONS = Object.keys(MORE).sort()

export const METHODS: Methods = { ...ORIGINAL, ...MORE }
