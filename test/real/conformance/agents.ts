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
  tools: { command: 'Bash', edit: /^Edit$/ },
  steers: 'never',
  denialEndsTurn: true,
}

function modelInBody({ body }: SeenRequest): string | null {
  return (body as { model?: string } | null)?.model ?? null
}
