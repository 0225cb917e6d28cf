import { CLIENT_INFO_META_KEY, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Decision } from '../../core/approval.ts'
import { contactRequest, contactReply, permissionRequest, permissionReply, type Reply } from './answers.ts'
import type { Asker, HumanRequest } from './asking.ts'

export interface ServerOptions {
  asker: Asker
  version: string
  /** How often a client that asked for it hears that the wait goes on. */
  progressMs?: number
}

const PROGRESS_MS = 10_000
const NAME_LIMIT = 100

const INSTRUCTIONS = `A human watches over this work through Corral, maybe from another room or a phone.
Use contact_human for a decision, a preference or knowledge that only a human has, and request_permission before an
action that needs consent. Both wait until somebody answers, which may take minutes or hours: do not call them again.`

const permissionInput = z.object({
  tool_name: z.string().min(1).max(200).describe('Name of the tool that is about to be used, e.g. Bash'),
  input: z.record(z.string(), z.unknown()).describe('The exact arguments that the tool is to be called with'),
  tool_use_id: z.string().max(200).optional().describe('Id of the tool call, if it has one'),
})

const contactInput = z.object({
  message: z
    .string()
    .min(1)
    .describe('The question, with all that is needed to answer it: the human does not see this conversation'),
  subject: z.string().max(200).optional().describe('What it is about, in a few words'),
  options: z
    .array(z.string().min(1))
    .max(50)
    .optional()
    .describe('Answers to choose from; the human may still answer in other words'),
})

/** Two tools that end in front of a human. */
export function createServer({ asker, version, progressMs = PROGRESS_MS }: ServerOptions): McpServer {
  const server = new McpServer(
    { name: 'corral', title: 'Corral', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )

  function ask(request: HumanRequest, context: ServerContext): Promise<Decision> {
    const caller = {
      client: clientName(server, context),
      signal: context.mcpReq.signal,
      request: context.http?.req,
    }
    return withProgress(context, progressMs, asker.ask(request, caller))
  }

  server.registerTool(
    'request_permission',
    {
      title: 'Request permission',
      description:
        'Ask a human whether a tool may be used with the given input, and wait for the decision. The result is JSON: ' +
        '{"behavior":"allow","updatedInput":{…}} means go ahead with exactly updatedInput, which the human may have ' +
        'edited; {"behavior":"deny","message":"…"} means do not do it, and says why. Rules that the human has set may ' +
        'answer at once.',
      inputSchema: permissionInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (given, context) =>
      resultOf(permissionReply(given.input, await ask(permissionRequest(given), context))),
  )
  server.registerTool(
    'contact_human',
    {
      title: 'Contact a human',
      description:
        'Ask a human a question and wait for the answer, which is the result. Use it for decisions, preferences, missing ' +
        'information, or when stuck. The human does not see this conversation, so the message must make sense alone.',
      inputSchema: contactInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (given, context) => resultOf(contactReply(await ask(contactRequest(given), context))),
  )
  return server
}

function resultOf({ text, isError }: Reply) {
  return { content: [{ type: 'text' as const, text }], ...(isError && { isError }) }
}

/** A request may carry its client's name; one that does not belongs to the client that said hello. */
function clientName({ server }: McpServer, { mcpReq }: ServerContext): string {
  const envelope = mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: { name: string } } | undefined
  const { name = '' } = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {}
  return name.trim().slice(0, NAME_LIMIT) || 'an MCP client'
}

/** Clients give up on calls that they hear nothing of; those that can be told are told. */
async function withProgress<T>({ mcpReq }: ServerContext, everyMs: number, work: Promise<T>): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return work
  let progress = 0
  const timer = setInterval(() => {
    const params = { progressToken, progress: ++progress, message: 'Waiting for a human' }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }, everyMs)
  return work.finally(() => clearInterval(timer))
}
