import { claude, codex, gemini, opencode } from './conformance/agents.ts'
import { servers } from './conformance/servers.ts'

for (const agent of [claude, codex, gemini, opencode]) servers(agent)
