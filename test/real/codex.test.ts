import { codex } from './conformance/agents.ts'
import { conforms } from './conformance/suite.ts'

conforms(codex)
