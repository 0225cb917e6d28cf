import { claude } from './conformance/agents.ts'
import { conforms } from './conformance/suite.ts'

conforms(claude)
