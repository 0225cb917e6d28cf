import { type RpcMessage, startRpcAgent } from './rpc.ts'
import type { Picture, Start, Talker, Told } from './talker.ts'

interface Update {
  sessionUpdate?: string
  content?: { text?: string }
}

interface Permission {
  toolCall?: { title?: string }
  options?: { optionId: string; kind: string }[]
}

/** An agent that speaks the Agent Client Protocol, with one session. */
export async function startAcp(start: Start): Promise<Talker> {
  const agent = startRpcAgent({ ...start, answer })
  await agent.ask('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'corral-tests', version: '0' },
  })
  const opened = await agent.ask('session/new', { cwd: start.cwd, mcpServers: [] })
  const sessionId = opened.result?.['sessionId']

  return {
    cwd: start.cwd,
    async turn(text, picture) {
      const from = agent.lines.length
      const ended = await agent.ask('session/prompt', { sessionId, prompt: promptOf(text, picture) })
      return toldIn(agent.lines.slice(from), ended)
    },
    interrupt() {
      agent.tell('session/cancel', { sessionId })
      return Promise.resolve()
    },
    close: () => agent.close(),
  }
}

function promptOf(text: string, picture: Picture | undefined): object[] {
  const said = { type: 'text', text }
  return picture ? [said, { type: 'image', mimeType: picture.mediaType, data: picture.data }] : [said]
}

function answer({ method, params }: RpcMessage): object {
  if (method !== 'session/request_permission') return {}
  const option = (params as Permission).options?.find((one) => one.kind === 'allow_once')
  return { outcome: { outcome: 'selected', optionId: option?.optionId } }
}

function toldIn(lines: RpcMessage[], ended: RpcMessage): Told {
  const updates = lines.map((line) => (line.params?.['update'] ?? {}) as Update)
  const chunks = (kind: string) =>
    updates.filter((update) => update.sessionUpdate === kind).map((update) => update.content?.text ?? '')
  const pieces = chunks('agent_message_chunk')
  return {
    text: pieces.join(''),
    thought: chunks('agent_thought_chunk').join(''),
    pieces,
    asked: lines
      .filter((line) => line.method === 'session/request_permission')
      .map((line) => (line.params as Permission).toolCall?.title ?? ''),
    failure: ended.error?.message ?? null,
    interrupted: ended.result?.['stopReason'] === 'cancelled',
  }
}
