import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLAUDE } from '../claude-env.ts'
import { follow } from './follow.ts'

/** A line of claude's, as far as tests look at it. */
export interface ClaudeLine {
  type: string
  subtype?: string
  result?: string
  is_error?: boolean
  api_error_status?: number | null
  terminal_reason?: string
  user_message_uuids?: string[]
  event?: { type: string; delta?: { type: string; text?: string; thinking?: string } }
  message?: { content: { type: string; text?: string; thinking?: string; name?: string }[] }
  request_id?: string
  request?: { subtype: string; tool_name?: string; input?: Record<string, unknown> }
  response?: { subtype: string; request_id: string }
}

export interface Claude {
  /** Its working directory, empty at first. */
  cwd: string
  pid: number
  lines: ClaudeLine[]
  exit: Promise<{ code: number | null; signal: string | null; stderr: string }>
  write(text: string): void
  send(line: object): void
  /** Sends a user message; gives its uuid. */
  say(content: unknown): string
  control(request: object): Promise<ClaudeLine>
  /** The first line that fits, of all there are and will be. */
  wait(fits: (line: ClaudeLine) => boolean, what: string): Promise<ClaudeLine>
  /** Says something, and waits for the result of the turn. */
  turn(content: unknown): Promise<ClaudeLine>
  close(): Promise<void>
}

/** The real claude over pipes, with a home of its own and `modelUrl` as the only model it knows. */
export function startClaude(options: {
  modelUrl: string
  args?: string[]
  env?: Record<string, string>
}): Claude {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-claude-')))
  for (const name of ['home', 'tmp', 'work']) mkdirSync(join(root, name))
  const cwd = join(root, 'work')
  const child = spawn(CLAUDE, [...ARGS, ...(options.args ?? [])], {
    cwd,
    env: { ...environment(root, options.modelUrl), ...options.env },
    stdio: 'pipe',
  })
  const { lines, wait } = follow<ClaudeLine>(child, (line) => `${line.type}/${line.subtype ?? ''}`)
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  child.stdin.on('error', () => undefined)
  const exit = once(child, 'close').then(([code, signal]) => {
    return { code: code as number | null, signal: signal as string | null, stderr }
  })

  const write = (text: string) => void child.stdin.write(text)
  const send = (line: object) => write(`${JSON.stringify(line)}\n`)
  const say = (content: unknown) => {
    const uuid = randomUUID()
    send({ type: 'user', uuid, parent_tool_use_id: null, message: { role: 'user', content } })
    return uuid
  }
  return {
    cwd,
    pid: child.pid!,
    lines,
    exit,
    write,
    send,
    say,
    wait,
    control(request) {
      const id = randomUUID()
      send({ type: 'control_request', request_id: id, request })
      const fits = (line: ClaudeLine) => line.type === 'control_response' && line.response?.request_id === id
      return wait(fits, `answer to ${JSON.stringify(request)}`)
    },
    turn(content) {
      const uuid = say(content)
      return wait(
        (line) => line.type === 'result' && line.user_message_uuids?.includes(uuid) === true,
        'result',
      )
    },
    async close() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
      if (child.exitCode === null) child.kill('SIGTERM')
      await exit
      clearTimeout(timer)
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const ARGS = (
  '-p --output-format stream-json --input-format stream-json --verbose ' +
  '--include-partial-messages --permission-prompt-tool stdio'
).split(' ')

function environment(root: string, modelUrl: string): Record<string, string> {
  return {
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  }
}
