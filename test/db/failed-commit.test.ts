import { expect, it, onTestFinished } from 'vitest'
import { isDatabaseBusy, isDatabaseUnavailable } from '../../src/db/errors.ts'
import { openTestDatabase } from '../support/processes.ts'

/** Runs a statement in a transaction whose COMMIT fails. @returns the error. */
async function failCommit(statement: string): Promise<unknown> {
  const { db } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  await db.$executeRawUnsafe('CREATE TABLE commits (id int)')
  await db.$executeRawUnsafe(
    `CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NULL; END $$`,
  )
  await db.$executeRawUnsafe(
    'CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON commits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_commit()',
  )
  return db
    .$transaction((tx) => tx.$executeRawUnsafe('INSERT INTO commits VALUES (1)'))
    .then(
      () => undefined,
      (error: unknown) => error,
    )
}

it('recognizes a connection that is lost during a commit', async () => {
  expect(isDatabaseUnavailable(await failCommit('PERFORM pg_terminate_backend(pg_backend_pid())'))).toBe(true)
})

it('recognizes a commit that conflicts with others', async () => {
  expect(isDatabaseBusy(await failCommit("RAISE EXCEPTION 'in the way' USING ERRCODE = '40001'"))).toBe(true)
})
