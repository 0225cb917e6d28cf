import { opencode } from './conformance/agents.ts'
import { conforms } from './conformance/suite.ts'

conforms(opencode)
