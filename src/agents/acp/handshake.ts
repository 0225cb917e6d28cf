import { CorralError } from '../../core/error.ts'
import type { Mode } from '../../core/mode.ts'
import type { Session } from '../../core/session.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../json.ts'
import { setEffort } from './effort.ts'
import type { AcpProfile } from './profile.ts'
import type { Abilities, Choices } from './request.ts'
import { idOf, mark, request } from './rpc.ts'

/** The first line to an agent. */
export function greeting({ offers: { files, terminals } }: AcpProfile): string {
  return request('initialize', 'initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: files, writeTextFile: files }, terminal: terminals },
    clientInfo: { name: 'corral', title: 'Corral', version: '1' },
  })
}

/** Opens the session's conversation: the one it has, a branch of another, or a new one. */
export function open(session: Session, can: Abilities): string {
  const place = placeOf(session, can)
  const { nativeId, forkFrom } = session
  if (nativeId !== null) return take(can.resume ? 'resume' : 'load', nativeId, place)
  return forkFrom === null ? openNew(session, can) : take('fork', forkFrom, place)
}

export function openNew(session: Session, can: Abilities): string {
  return request(idOf('open', 'new'), 'session/new', placeOf(session, can))
}

function take(how: 'resume' | 'load' | 'fork', sessionId: string, place: object): string {
  // A branch gets an id of its own: the answer names it.
  const detail = how === 'fork' ? how : `${how}:${sessionId}`
  return request(idOf('open', detail), `session/${how}`, { sessionId, ...place })
}

function placeOf({ cwd, settings }: Session, can: Abilities): object {
  const { additionalDirectories, mcpConfig } = settings
  return {
    cwd,
    mcpServers: mcpServers(mcpConfig),
    ...(can.directories && additionalDirectories && { additionalDirectories }),
  }
}

/** The next thing that the session wants to be otherwise than it is; when there is none, the last mark. */
export function settle(profile: AcpProfile, session: Session, sessionId: string, now: Choices): string {
  const place = placeOfMode(profile, session.mode, now.modes)
  const wanted = profile.modes[session.mode][place] ?? null
  if (
    !now.settled.includes('mode') &&
    wanted !== null &&
    wanted !== now.mode &&
    !isPointless(session.mode, now)
  ) {
    return setMode(profile, sessionId, session.mode, place)
  }
  const { model } = session
  if (!now.settled.includes('model') && model !== null && model !== now.model) {
    return setModel(sessionId, model, now.modelOption === null, now.modelOption ?? undefined)
  }
  const [effort] = session.effort ? setEffort(sessionId, now.effort, session.effort) : []
  return effort !== undefined && !now.settled.includes('effort') ? effort : mark('ready')
}

/** Where none of the names is to be had, the last one gets the refusal that ends the matter. */
function placeOfMode({ modes }: AcpProfile, mode: Mode, offered: readonly string[]): number {
  const found = modes[mode].findIndex((id) => offered.includes(id))
  return found < 0 ? modes[mode].length - 1 : found
}

/** An agent without modes is as good as any where Corral answers its questions; it cannot be trusted with a plan. */
function isPointless(mode: Mode, { modes }: Choices): boolean {
  return mode !== 'plan' && modes.length === 0
}

export function setMode(profile: AcpProfile, sessionId: string, mode: Mode, place: number): string {
  const modeId = profile.modes[mode][place]
  return request(idOf('mode', `${mode}:${place}`), 'session/set_mode', { sessionId, modeId })
}

/** By the name that it has for it; if it has not said which it has, all of them are tried. */
export function changeMode(profile: AcpProfile, session: Session, mode: Mode, offered: string[]): string[] {
  if (profile.modes[mode].length === 0) return []
  const place = offered.length === 0 ? 0 : placeOfMode(profile, mode, offered)
  return [setMode(profile, session.nativeId ?? '', mode, place)]
}

export function setModel(sessionId: string, model: string, old: boolean, configId = 'model'): string {
  return old
    ? request(idOf('model', `old:${model}`), 'session/set_model', { sessionId, modelId: model })
    : request(idOf('model', `option:${model}`), 'session/set_config_option', {
        sessionId,
        configId,
        value: model,
      })
}

/** As in a `.mcp.json` file, with or without its outer `mcpServers`. */
function mcpServers(config: unknown): object[] {
  const servers = isObject(config) && isObject(config.mcpServers) ? config.mcpServers : asObject(config)
  return Object.entries(servers).map(([name, server]) => mcpServer(name, asObject(server)))
}

function mcpServer(name: string, server: JsonObject): object {
  if (typeof server.url === 'string') {
    const type = server.type === 'sse' ? 'sse' : 'http'
    return { type, name, url: server.url, headers: pairs(server.headers) }
  }
  const args = asArray(server.args).filter((arg) => typeof arg === 'string')
  return { name, command: asString(server.command) ?? '', args, env: pairs(server.env) }
}

function pairs(values: unknown): { name: string; value: string }[] {
  return Object.entries(asObject(values)).map(([name, value]) => ({ name, value: String(value) }))
}

/** What a client may ask for and the protocol has no word for. */
const UNSUPPORTED = [
  'systemPrompt',
  'allowedTools',
  'disallowedTools',
  'maxTurns',
  'permissionPromptTool',
] as const

export function refuseUnsupported({ title }: AcpProfile, { settings }: Session): void {
  const asked: string[] = UNSUPPORTED.filter((key) => settings[key] !== undefined)
  if (typeof settings.mcpConfig === 'string') asked.push('mcpConfig as a file')
  if (asked.length === 0) return
  throw new CorralError('unsupported', `${title} cannot be given: ${asked.join(', ')}`, { settings: asked })
}
