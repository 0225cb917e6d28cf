import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable'
import type { TestDaemon } from '../../support/daemon.ts'
import { MAIN } from '../../support/program.ts'
import { until } from '../../support/wait.ts'

export interface Permission {
  params: RequestPermissionRequest
  /** Aborts when the agent takes the question back. */
  signal: AbortSignal
  choose(optionId: string): void
  dismiss(): void
}

/** An editor, as far as an agent can tell: the SDK's client side around a real `corral acp`. */
export interface TestEditor {
  agent: ClientContext
  child: ChildProcess
  exited: Promise<number | null>
  /** All that was shown, in order. */
  updates: SessionUpdate[]
  stderr(): string
  /** The next question for permission that nobody has looked at. */
  permission(): Promise<Permission>
  /** How many questions came that nobody has looked at. */
  unseen(): number
  prompt(sessionId: string, text: string | ContentBlock[]): Promise<PromptResponse>
  /** Text of this kind of update, put together. */
  text(kind?: SessionUpdate['sessionUpdate']): string
  /** Waits for the text. */
  reads(text: string): Promise<void>
}

export interface EditorSetup {
  args?: string[]
  capabilities?: ClientCapabilities
  /** Leave out `initialize`. */
  silent?: boolean
}

type Where = Pick<TestDaemon, 'env' | 'project'>

/** A real `corral acp`, ended after the test; what it printed must have been protocol and nothing else. */
export function acpProcess(t: TestContext, { env, project }: Where, args: string[] = []) {
  const child = spawn(process.execPath, [MAIN, 'acp', ...args], { env, cwd: project })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  child.stdin.on('error', () => {})
  t.after(async () => {
    child.stdin.destroy()
    child.kill('SIGKILL')
    await exited
    for (const line of stdout.split('\n').filter(Boolean)) {
      assert.equal((JSON.parse(line) as { jsonrpc: string }).jsonrpc, '2.0', line)
    }
  })
  return { child, exited, stdout: () => stdout, stderr: () => stderr }
}

export async function editorFor(t: TestContext, where: Where, setup: EditorSetup = {}): Promise<TestEditor> {
  const { child, exited, stderr } = acpProcess(t, where, setup.args ?? ['--agent', 'demo'])
  const updates: SessionUpdate[] = []
  const questions: Permission[] = []
  const app = client({ name: 'tester' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>()
      const dismiss = (): void => resolve({ outcome: { outcome: 'cancelled' } })
      const choose = (optionId: string): void => resolve({ outcome: { outcome: 'selected', optionId } })
      signal.addEventListener('abort', dismiss)
      questions.push({ params, signal, choose, dismiss })
      return promise
    })
  const { agent } = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  )
  if (!setup.silent) {
    const clientCapabilities = setup.capabilities ?? {}
    await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities })
  }
  const text: TestEditor['text'] = (kind = 'agent_message_chunk') => textIn(updates, kind)
  return {
    agent,
    child,
    exited,
    updates,
    stderr,
    permission: () => until(() => questions.shift(), 'a question'),
    unseen: () => questions.length,
    prompt: (sessionId, said) =>
      agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: typeof said === 'string' ? [{ type: 'text', text: said }] : said,
      }),
    text,
    async reads(wanted) {
      await until(
        () => text().includes(wanted),
        () => `${wanted} in ${text()}`,
      )
    },
  }
}

export function textIn(updates: readonly SessionUpdate[], kind: SessionUpdate['sessionUpdate']): string {
  const pieces = updates.map((update) => {
    const content = update.sessionUpdate === kind && 'content' in update ? update.content : null
    return content && 'type' in content && content.type === 'text' ? content.text : ''
  })
  return pieces.join('')
}

/** The states of tools, as they were told. */
export function toolStates({ updates }: TestEditor): (string | null | undefined)[] {
  return updates.flatMap((update) =>
    update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update'
      ? [update.status]
      : [],
  )
}

export async function newSession(editor: TestEditor, { project }: Where): Promise<string> {
  const { new: open } = methods.agent.session
  return (await editor.agent.request(open, { cwd: project, mcpServers: [] })).sessionId
}

/** The error that a request ends with. */
export async function refusal(
  request: Promise<unknown>,
): Promise<{ code: number; message: string; data?: unknown }> {
  const answer: unknown = await request.then(
    (value) => assert.fail(`answered with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  return answer as { code: number; message: string; data?: unknown }
}
