import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGES } from '../../src/door/paths.ts'
import { pathOf, routeOf, type Route } from '../../web/route.ts'

test('each page has a path, and each path its page', () => {
  const routes: Exclude<Route, { page: 'unknown' }>[] = [
    { page: 'now' },
    { page: 'inbox' },
    { page: 'session', id: '0190-a' },
    { page: 'changes', id: '0190-a' },
    { page: 'search' },
    { page: 'relay' },
    { page: 'system' },
    { page: 'devices' },
    { page: 'settings' },
    { page: 'signin' },
    { page: 'welcome' },
  ]
  for (const route of routes) assert.deepEqual(routeOf(pathOf(route)), route)
  const paths = routes.map((route) => pathOf(route).replace('0190-a', ':id'))
  assert.deepEqual(paths, PAGES, 'the front door answers for the same pages')
})

test('an id may be anything, and comes back as it was', () => {
  for (const id of ['a b', '../x', 'ä/ö', '%2f', '?#&']) {
    assert.deepEqual(routeOf(pathOf({ page: 'session', id })), { page: 'session', id })
  }
})

test('what is no page is unknown', () => {
  for (const path of [
    '/x',
    '/s',
    '/s/',
    '/s/a/b',
    '/s/a/changes/x',
    '/inbox/',
    '/inbox/x',
    '//',
    '/s/%',
    '',
  ]) {
    assert.deepEqual(routeOf(path), { page: 'unknown' }, path)
  }
})
