import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpDriver } from '../../../src/agents/acp/driver.ts'
import { gemini as geminiProfile } from '../../../src/agents/acp/gemini.ts'
import { opencode as opencodeProfile } from '../../../src/agents/acp/opencode.ts'
import { claudeDriver } from '../../../src/agents/claude/driver.ts'
import { codexDriver } from '../../../src/agents/codex/driver.ts'
import { claudeAbsent, claudeHome } from '../../support/claude-env.ts'
import { codexAbsent, scriptedCodex } from '../../support/codex-env.ts'
import { geminiAbsent, scriptedGemini } from '../../support/gemini-env.ts'
import type { SeenRequest } from '../../support/model/server.ts'
import { opencodeAbsent, scriptedOpencode } from '../../support/opencode-env.ts'
import type { RealAgent } from './agent.ts'

export const claude: RealAgent = {
  driver: claudeDriver,
  absent: claudeAbsent,
  home: claudeHome,
  models: ['sonnet', 'opus'],
  usedModel: modelInBody,
  failures: { 401: 401, 429: 429, 500: 500, 529: 529 },
  mayNotice: [],
  shell: (command) => ['Bash', { command, description: 'd' }],
  asks: (near, far) => [
    ['shell', false, 'Bash', { command: 'ls', description: 'd' }],
    ['shell', false, 'Bash', { command: 'git status', description: 'd' }],
    ['shell', false, 'Bash', { command: `cat ${near}`, description: 'd' }],
    ['shell', true, 'Bash', { command: `cat ${far}`, description: 'd' }],
    ['read', false, 'Read', { file_path: near }],
    ['read', true, 'Read', { file_path: far }],
    ['fetch', true, 'WebFetch', { url: 'http://127.0.0.1:9/', prompt: 'p' }],
    ['fetch', false, 'WebFetch', { url: 'https://docs.python.org/3/', prompt: 'p' }],
    ['search', true, 'WebSearch', { query: 'words' }],
  ],
  mcp: {
    add: (at, name, server) =>
      inJson(join(at.env['HOME']!, '.claude.json'), { mcpServers: { [name]: { type: 'stdio', ...server } } }),
    names: (server, tool) => same(`mcp__${server}__${tool}`),
    reads: (server, uri) => ['ReadMcpResourceTool', { server, uri }],
    believes: false,
  },
  tools: { command: 'Bash', edit: /^(Write|Edit)$/ },
  steers: 'between rounds',
  denialEndsTurn: false,
}

export const codex: RealAgent = {
  driver: codexDriver,
  absent: codexAbsent,
  home: scriptedCodex,
  models: ['gpt-5.4', 'gpt-5.5'],
  usedModel: modelInBody,
  // Of a server's failure 500 it says only that there is high demand.
  failures: { 401: 401, 429: 429, 500: null, 529: 529 },
  // There may be no bubblewrap on the machine; it has one of its own.
  mayNotice: ['config_warning'],
  shell: (cmd) => ['exec_command', { cmd }],
  patchTwo: (one, other) => [
    'apply_patch',
    { input: `*** Begin Patch\n*** Add File: ${one}\n+a\n*** Add File: ${other}\n+b\n*** End Patch\n` },
  ],
  asks: (near) => [
    ['shell', true, 'exec_command', { cmd: 'ls' }],
    ['shell', true, 'exec_command', { cmd: `cat ${near}` }],
    ['shell', true, 'exec_command', { cmd: `rg a ${near}` }],
    ['read', false, 'view_image', { path: near.replace(/[^/]+$/, 'pixel.png') }],
    ['search', false, 'web_search', { type: 'search', query: 'words' }],
    ['fetch', false, 'web_search', { type: 'open_page', url: 'https://127.0.0.1:9/' }],
    ['other', false, 'get_goal', {}],
  ],
  mcp: {
    add: (at, name, { command, args }) => {
      const table = { command, args }
      const lines = Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      const config = join(at.env['CODEX_HOME']!, 'config.toml')
      appendFileSync(config, `\n[mcp_servers.${name}]\n${lines.join('\n')}\n`)
    },
    names: (server, tool) => ({
      called: `mcp__${server.replaceAll('-', '_')}::${tool}`,
      asked: `mcp__${server}__${tool}`,
    }),
    reads: (server, uri) => ['read_mcp_resource', { server, uri }],
    believes: true,
  },
  tools: { command: 'command', edit: /^fileChange$/ },
  steers: 'at once',
  denialEndsTurn: false,
}

export const gemini: RealAgent = {
  driver: acpDriver(geminiProfile),
  absent: geminiAbsent,
  home: scriptedGemini,
  models: ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  usedModel: ({ path }) => /models\/([^:]+):streamGenerateContent/.exec(path)?.[1] ?? null,
  failures: { 401: 401, 429: 429, 500: 500, 529: 529 },
  mayNotice: [],
  shell: (command) => ['run_shell_command', { command, description: 'd' }],
  asks: (near, far) => [
    ['shell', false, 'run_shell_command', { command: 'ls', description: 'd' }],
    ['shell', false, 'run_shell_command', { command: 'git status', description: 'd' }],
    ['shell', true, 'run_shell_command', { command: 'touch b.txt', description: 'd' }],
    ['read', false, 'read_file', { file_path: near }],
    ['read', false, 'read_file', { file_path: far }],
    ['search', false, 'glob', { pattern: '*.txt' }],
    ['search', false, 'google_web_search', { query: 'x' }],
    ['fetch', true, 'web_fetch', { prompt: 'get http://127.0.0.1:9/' }],
  ],
  mcp: {
    add: (at, name, server) =>
      inJson(join(at.env['HOME']!, '.gemini/settings.json'), { mcpServers: { [name]: server } }),
    names: (server, tool) => same(`mcp_${server}_${tool}`),
    reads: (_, uri) => ['read_mcp_resource', { uri }],
    believes: false,
  },
  tools: { command: 'Bash', edit: /^Edit$/ },
  steers: 'never',
  denialEndsTurn: false,
}

export const opencode: RealAgent = {
  driver: acpDriver(opencodeProfile),
  absent: opencodeAbsent,
  home: scriptedOpencode,
  models: ['scripted/other', 'scripted/scripted'],
  // Titles are made by a model without tools.
  usedModel: (request) => {
    const { tools } = request.body as { tools?: unknown[] }
    return request.path.endsWith('/chat/completions') && tools?.length ? modelInBody(request) : null
  },
  failures: { 401: null, 429: null, 500: null, 529: null },
  mayNotice: [],
  shell: (command) => ['bash', { command, description: 'd' }],
  asks: (near) => [
    ['shell', true, 'bash', { command: 'ls', description: 'd' }],
    ['shell', true, 'bash', { command: `cat ${near}`, description: 'd' }],
    ['read', false, 'read', { filePath: near }],
    ['read', true, 'read', { filePath: near.replace(/[^/]+$/, '.env') }],
    ['search', false, 'glob', { pattern: '*.txt' }],
    ['fetch', true, 'webfetch', { url: 'http://127.0.0.1:9/', format: 'text' }],
  ],
  mcp: {
    add: (at, name, { command, args }) => {
      const server = { type: 'local', command: [command, ...args] }
      inJson(join(at.env['XDG_CONFIG_HOME']!, 'opencode/opencode.json'), { mcp: { [name]: server } })
    },
    names: (server, tool) => same(`${server}_${tool}`),
    reads: (server, uri) => ['read_mcp_resource', { server, uri }],
    believes: false,
  },
  tools: { command: 'Bash', edit: /^Edit$/ },
  steers: 'never',
  denialEndsTurn: true,
}

function modelInBody({ body }: SeenRequest): string | null {
  return (body as { model?: string } | null)?.model ?? null
}

const same = (name: string) => ({ called: name, asked: name })

/** Adds to what a file of settings says. */
function inJson(path: string, more: object): void {
  const now = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {}
  writeFileSync(path, JSON.stringify({ ...now, ...more }))
}
