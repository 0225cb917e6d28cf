import { type RpcMessage, startRpcAgent } from './rpc.ts'
import type { Picture, Start, Talker, Told } from './talker.ts'

interface Turn {
  id: string
  status: 'inProgress' | 'completed' | 'interrupted' | 'failed'
  error: { message: string } | null
}

/** `codex app-server` with one thread, which has `instructions` as its system prompt. */
export async function startCodex(start: Start, instructions: string): Promise<Talker> {
  const agent = startRpcAgent({ ...start, answer: () => ({ decision: 'accept' }) })
  const clientInfo = { name: 'corral-tests', title: 'Tests', version: '0' }
  await agent.ask('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  agent.tell('initialized')
  const opened = await agent.ask('thread/start', {
    cwd: start.cwd,
    approvalPolicy: 'untrusted',
    sandbox: 'danger-full-access',
    developerInstructions: instructions,
  })
  const threadId = (opened.result?.['thread'] as { id: string } | undefined)?.id
  let started: Promise<RpcMessage>

  return {
    cwd: start.cwd,
    async turn(text, picture) {
      const from = agent.lines.length
      started = agent.ask('turn/start', { threadId, input: inputOf(text, picture) })
      const id = turnOf((await started).result)?.id
      const isEnd = (line: RpcMessage) => line.method === 'turn/completed' && turnOf(line.params)?.id === id
      const ended = turnOf((await agent.wait(isEnd, `end of ${text}`)).params)!
      return toldIn(agent.lines.slice(from), ended)
    },
    async interrupt() {
      await agent.ask('turn/interrupt', { threadId, turnId: turnOf((await started).result)?.id })
    },
    close: () => agent.close(),
  }
}

function turnOf(holder: Record<string, unknown> | undefined): Turn | undefined {
  return holder?.['turn'] as Turn | undefined
}

function inputOf(text: string, picture: Picture | undefined): object[] {
  const said = { type: 'text', text, text_elements: [] }
  return picture ? [said, { type: 'image', url: `data:${picture.mediaType};base64,${picture.data}` }] : [said]
}

function toldIn(lines: RpcMessage[], ended: Turn): Told {
  const deltas = (method: string) =>
    lines.filter((line) => line.method === method).map((line) => String(line.params?.['delta']))
  const pieces = deltas('item/agentMessage/delta')
  return {
    text: pieces.join(''),
    thought: deltas('item/reasoning/summaryTextDelta').join(''),
    pieces,
    asked: lines.filter((line) => line.method?.endsWith('/requestApproval')).map(askedBy),
    failure: ended.status === 'failed' ? (ended.error?.message ?? '') : null,
    interrupted: ended.status === 'interrupted',
  }
}

function askedBy({ method, params }: RpcMessage): string {
  return String(params?.['command'] ?? method)
}
