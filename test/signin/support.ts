import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uuid } from '../../src/core/ids.ts'
import type { FlowEvent, FlowStep, FlowView } from '../../src/core/signin.ts'
import { createSignIn, type SignInOptions, type SignInParts } from '../../src/signin/signin.ts'
import { startIssuer, type OAuthIssuer } from '../support/oauth-issuer.ts'

export interface TestSignIn {
  signin: SignInParts
  issuer: OAuthIssuer
  home: string
  env: NodeJS.ProcessEnv
  notices: string[]
  changes(): number
  /** All that is in the file of secrets. */
  stored(): string
  /** The first event of this type, waited for. */
  step<T extends FlowStep['type']>(flowId: string, type: T): Promise<FlowEvent & { type: T }>
  /** The whole flow, waited for. */
  end(flowId: string): Promise<FlowView>
  /** Opens it again on the same directory. */
  again(changes?: Partial<SignInOptions>): SignInParts
  stop(): Promise<void>
}

/** Sign-in against an issuer on loopback, with secrets in a file. */
export async function startSignIn(
  given: Partial<Omit<SignInOptions, 'settings'>> & { settings?: Partial<SignInOptions['settings']> } = {},
): Promise<TestSignIn> {
  const home = given.home ?? mkdtempSync(join(tmpdir(), 'corral-signin-'))
  const issuer = await startIssuer()
  const notices: string[] = []
  let changes = 0
  const env: NodeJS.ProcessEnv = { PATH: home, HOME: home, DISPLAY: ':0', ...given.env }
  const options: SignInOptions = {
    path: join(home, 'signin.json'),
    home,
    platform: 'linux',
    newId: uuid,
    signedInItself: () => Promise.resolve(false),
    changed: () => void (changes += 1),
    notice: (message) => notices.push(message),
    ...given,
    env,
    settings: {
      openaiIssuer: issuer.url,
      openaiClientId: issuer.clientId,
      openaiScopes: 'openid profile email offline_access',
      openaiPort: 0,
      antigravityIssuer: issuer.url,
      antigravityClientId: issuer.clientId,
      antigravityClientSecret: null,
      antigravityScopes: 'openid email profile',
      antigravityPort: 0,
      keychain: false,
      timeoutMs: 20_000,
      ...given.settings,
    },
  }
  const signin = createSignIn(options)
  const opened = [signin]

  async function step<T extends FlowStep['type']>(flowId: string, type: T): Promise<FlowEvent & { type: T }> {
    for (let after = 0; ;) {
      const { events, state } = await signin.flow(flowId, { after, waitMs: 5000 })
      const found = events.find((event) => event.type === type)
      if (found) return found as FlowEvent & { type: T }
      if (state !== 'running') throw new Error(`ended without ${type}: ${JSON.stringify(events)}`)
      after += events.length
    }
  }

  return {
    signin,
    issuer,
    home,
    env,
    notices,
    changes: () => changes,
    stored: () => readFileSync(options.path, 'utf8'),
    step,
    async end(flowId) {
      for (;;) {
        const view = await signin.flow(flowId)
        if (view.state !== 'running') return view
        await signin.flow(flowId, { after: view.events.length, waitMs: 5000 })
      }
    },
    again(changed = {}) {
      const other = createSignIn({ ...options, ...changed })
      opened.push(other)
      return other
    },
    async stop() {
      await Promise.all(opened.map((one) => one.close()))
      await issuer.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Every file below a directory, by its path. */
export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
}
