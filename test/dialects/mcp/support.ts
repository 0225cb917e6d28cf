import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Api, NativeClient } from '../../../src/client/client.ts'
import type { TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { until } from '../../support/wait.ts'

/** The revision in which every request stands alone. */
export const STANDALONE = '2026-07-28'

export type ApprovalView = Api['approval.get']['result']

export interface ClientSetup {
  name?: string
  /** Speak exactly this revision; by default the client begins with `initialize`. */
  pin?: string
}

function newClient({ name = 'tester', pin }: ClientSetup): Client {
  const negotiation = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }
  return new Client({ name, version: '1.0.0' }, negotiation)
}

export interface StdioSetup extends ClientSetup {
  args?: string[]
  env?: NodeJS.ProcessEnv
  cwd?: string
}

/** A client that runs `corral mcp approvals` as its server. */
export async function overStdio(
  t: TestContext,
  daemon: Pick<TestDaemon, 'env' | 'project'>,
  setup: StdioSetup = {},
): Promise<{ client: Client; pid: number }> {
  const client = newClient(setup)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', 'approvals', ...(setup.args ?? [])],
    env: { ...daemon.env, ...setup.env } as Record<string, string>,
    cwd: setup.cwd ?? daemon.project,
  })
  t.after(() => client.close())
  await client.connect(transport)
  return { client, pid: transport.pid! }
}

export interface HttpSetup extends ClientSetup {
  headers?: Record<string, string>
  query?: string
}

export async function overHttp(
  t: TestContext,
  daemon: TestDaemon,
  setup: HttpSetup = {},
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = newClient(setup)
  const url = new URL(`${daemon.listeners['corral']}/mcp${setup.query ?? ''}`)
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: setup.headers ?? {} } })
  t.after(() => client.close())
  await client.connect(transport)
  return { client, transport }
}

/** The question that waits and has this in its input. */
export function openQuestion(native: NativeClient, mark: string): Promise<ApprovalView> {
  return until(async () => {
    const { approvals } = await native.call('approval.list')
    return approvals.find(({ input }) => JSON.stringify(input).includes(mark))
  }, `a question with ${mark}`)
}

export function decided(native: NativeClient, approvalId: string): Promise<ApprovalView> {
  return until(async () => {
    const approval = await native.call('approval.get', { approvalId })
    return approval.decision && approval
  }, 'a decision')
}

let marks = 0

/** A command that no other question has in it. */
export function someCommand(): string {
  return `echo mark-${++marks}.`
}

export interface Said {
  text: string
  isError: boolean
}

/** Calls a tool; what it says is always one block of text. */
export async function say(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  options: { signal?: AbortSignal } = {},
): Promise<Said> {
  const { content, isError } = await client.callTool(
    { name, arguments: args },
    { timeout: 60_000, ...options },
  )
  assert.equal(content.length, 1)
  assert.equal(content[0]!.type, 'text')
  return { text: (content[0] as { text: string }).text, isError: isError === true }
}

export function mayRun(client: Client, command: string, options?: { signal?: AbortSignal }): Promise<Said> {
  return say(client, 'request_permission', { tool_name: 'Bash', input: { command } }, options)
}

export function allowed(input: object): Said {
  return { text: JSON.stringify({ behavior: 'allow', updatedInput: input }), isError: false }
}

export function denied(message: string): Said {
  return { text: JSON.stringify({ behavior: 'deny', message }), isError: false }
}
