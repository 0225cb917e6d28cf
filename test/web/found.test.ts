import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  groupHits,
  hitPath,
  piecesOf,
  placeIn,
  queryIn,
  searchPath,
  type Hit,
} from '../../web/state/found.ts'

function hit(sessionId: string, seq: number): Hit {
  return { sessionId, seq, turnId: null, at: seq, role: 'user', text: 'x', marks: [] }
}

test('a text is cut at its marks, and nothing of it is lost', () => {
  const pieces = piecesOf('a needle in hay', [
    [2, 8],
    [12, 15],
  ])
  assert.deepEqual(pieces, [
    { text: 'a ', marked: false },
    { text: 'needle', marked: true },
    { text: ' in ', marked: false },
    { text: 'hay', marked: true },
  ])
  assert.deepEqual(piecesOf('all', [[0, 3]]), [{ text: 'all', marked: true }])
})

test('marks that overlap, or are outside, mark nothing twice', () => {
  const pieces = piecesOf('abcdef', [
    [0, 4],
    [2, 5],
    [5, 99],
    [4, 4],
  ])
  assert.equal(pieces.map(({ text }) => text).join(''), 'abcdef')
  assert.deepEqual(pieces[0], { text: 'abcd', marked: true })
})

test('hits are grouped by session, the best first, and none comes twice when pages overlap', () => {
  const groups = groupHits([hit('b', 9), hit('a', 3), hit('b', 4), hit('a', 3)])
  assert.deepEqual(
    groups.map(({ sessionId, hits }) => [sessionId, hits.map(({ seq }) => seq)]),
    [
      ['b', [9, 4]],
      ['a', [3]],
    ],
  )
})

test('a hit leads to its place, and a search has an address', () => {
  assert.equal(hitPath({ sessionId: 'a/b', seq: 7, turnId: null }), '/s/a%2Fb?at=7')
  assert.equal(hitPath({ sessionId: 'a', seq: 7, turnId: 't 1' }), '/s/a?at=7&turn=t+1')
  assert.deepEqual(placeIn('?at=7&turn=t+1'), { seq: 7, turnId: 't 1' })
  assert.deepEqual(placeIn('?at=7'), { seq: 7, turnId: null })
  for (const search of ['', '?at=', '?at=x', '?at=-1', '?at=1.5', '?turn=t'])
    assert.equal(placeIn(search), null, search)
  const query = { text: 'two words & "more"', sessionId: 's1' }
  assert.deepEqual(queryIn(new URL(searchPath(query), 'http://x').search), query)
  assert.equal(searchPath({ text: '', sessionId: null }), '/search')
})
