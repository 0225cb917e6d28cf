import type { ContentBlock, EmbeddedResource, McpServer } from '@agentclientprotocol/sdk/unstable'
import type { Content } from '../../core/content.ts'
import { invalid } from './errors.ts'

/** What the user says in an editor. Links and attached files become text, the files after all else. */
export function contentOf(prompt: readonly ContentBlock[]): Content[] {
  const parts = prompt.map(partOf)
  const attached = prompt.flatMap((block) => (block.type === 'resource' ? attachment(block) : []))
  const content = merged([...parts, ...attached.map(textPart)])
  if (content.length === 0) throw invalid('the prompt is empty')
  return content
}

export function blockOf(part: Content): ContentBlock {
  if (part.type === 'text') return part
  if (part.type === 'document') return { type: 'text', text: '(a document)' }
  return { type: 'image', data: part.data, mimeType: part.mediaType }
}

function partOf(block: ContentBlock): Content {
  switch (block.type) {
    case 'text':
      return textPart(block.text)
    case 'image':
      return { type: 'image', mediaType: block.mimeType, data: block.data }
    case 'resource_link':
      return textPart(link(block.name, block.uri))
    case 'resource': {
      const { resource } = block
      const { mimeType } = resource
      if ('blob' in resource && mimeType?.startsWith('image/')) {
        return { type: 'image', mediaType: mimeType, data: resource.blob }
      }
      return textPart(link(nameOf(resource.uri), resource.uri))
    }
    default:
      throw invalid(`a prompt cannot have ${block.type} in it`)
  }
}

function textPart(text: string): Content {
  return { type: 'text', text }
}

function link(name: string, uri: string): string {
  return `[@${name}](${uri})`
}

function nameOf(uri: string): string {
  return uri.split('/').findLast((part) => part !== '') ?? uri
}

function attachment({ resource }: EmbeddedResource): string[] {
  return 'text' in resource ? [`\n<context ref="${resource.uri}">\n${resource.text}\n</context>`] : []
}

/** Neighbouring texts are one: an editor cuts a sentence where a link stands in it. */
function merged(parts: readonly Content[]): Content[] {
  const all: Content[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (part.type === 'text' && last?.type === 'text') all[all.length - 1] = textPart(last.text + part.text)
    else if (part.type !== 'text' || part.text !== '') all.push(part)
  }
  return all
}

/** The editor's MCP servers in the form that agents know from `.mcp.json`; undefined when there are none. */
export function mcpConfigOf(servers: readonly McpServer[]): { mcpServers: object } | undefined {
  if (servers.length === 0) return undefined
  return { mcpServers: Object.fromEntries(servers.map((server) => [server.name, serverOf(server)])) }
}

function serverOf(server: McpServer): object {
  if (!('type' in server)) {
    const { command, args, env } = server
    return { command, args, env: byName(env) }
  }
  if (server.type === 'acp') throw invalid('MCP servers are reached by a command or a URL')
  return { type: server.type, url: server.url, headers: byName(server.headers) }
}

function byName(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}
