import { expect, it } from 'vitest'
import { compileOnce } from '../../../src/http/schema/compile-once.ts'

it('compileOnce compiles a schema on its first use, and only once for all users', () => {
  const compiled: object[] = []
  const compilerOf = compileOnce((schema: { title: string }) => {
    compiled.push(schema)
    return (text: string) => `${schema.title} ${text}`
  })
  const [tag, invite] = [{ title: 'Tag' }, { title: 'Invite' }]
  const [get, head, other] = [compilerOf(tag), compilerOf(tag), compilerOf(invite)]
  expect(compiled).toEqual([])
  expect([get('a'), head('b'), get('c'), other('d')]).toEqual(['Tag a', 'Tag b', 'Tag c', 'Invite d'])
  expect(compiled).toEqual([tag, invite])
})
