import { test } from 'node:test'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { claudeAbsent, scriptedClaude } from '../support/claude-env.ts'
import { halfWrittenMessage } from '../support/half-line.ts'

test(
  'claude: a message that was half written when the daemon died arrives whole, and once',
  { skip: claudeAbsent },
  async () => {
    const model = await scriptedClaude()
    try {
      await halfWrittenMessage('claude', { drivers: [claudeDriver], env: model.env })
    } finally {
      await model.close()
    }
  },
)
