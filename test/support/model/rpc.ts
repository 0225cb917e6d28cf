import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { follow, type Followed } from './follow.ts'

/** A JSON-RPC message of an agent's, as far as tests look at it. */
export interface RpcMessage {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string }
}

export interface RpcAgent extends Followed<RpcMessage> {
  pid: number
  /** The answer to a request, whether it is a result or an error. */
  ask(method: string, params: object): Promise<RpcMessage>
  tell(method: string, params?: object): void
  close(): Promise<void>
}

/** An agent that speaks JSON-RPC over its pipes. `answer` gives the result for a request of the agent's. */
export function startRpcAgent(options: {
  command: string
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
  answer(request: RpcMessage): object
}): RpcAgent {
  const { command, args, cwd, env } = options
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const { lines, wait } = follow<RpcMessage>(child, (line) => line.method ?? `answer ${line.id}`)
  const exit = once(child, 'close')
  let asked = 0

  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  child.stdin.on('error', () => undefined)
  let answered = 0
  child.stdout.on('data', () => {
    for (const line of lines.slice(answered)) {
      if (line.method !== undefined && line.id !== undefined)
        send({ id: line.id, result: options.answer(line) })
    }
    answered = lines.length
  })

  return {
    pid: child.pid!,
    lines,
    wait,
    ask(method, params) {
      const id = ++asked
      send({ id, method, params })
      return wait((line) => line.id === id && line.method === undefined, `answer to ${method}`)
    },
    tell: (method, params) => send({ method, ...(params && { params }) }),
    async close() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
      await exit
      clearTimeout(timer)
    },
  }
}
