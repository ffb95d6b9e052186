import { describe, expect, it } from 'vitest'
import { deleteExpiredImportFiles } from '../../../../src/domain/imports/import-files.ts'
import { confirmColumns } from '../../../support/check-columns.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { workbook } from '../../../support/workbooks.ts'

const service = await startServiceForFile()

async function setUp() {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  await service.make.question(assessment)
  const admin = await signInAs(service, organization.id, ['admin'])
  const send = (path: string, fields: Record<string, string>, content: string | Uint8Array) => {
    const request = service.http().post(`${admin.home}${path}`).set({ cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin' })
    for (const [name, value] of Object.entries(fields)) request.field(name, value)
    return request.attach('file', Buffer.from(content), 'people.csv')
  }
  const sendQuestions = (content: string | Uint8Array) => send('questions/imports', {}, content)
  const sendPeople = (content: string | Uint8Array) =>
    send('invites/batches', { assessmentId: assessment.id, sendEmail: 'yes' }, content)
  const rows = () =>
    service.db.libraryImportRow.findMany({ where: { organizationId: organization.id }, orderBy: { number: 'asc' } })
  const people = async () => {
    const found = await service.db.inviteBatchRow.findMany({
      where: { organizationId: organization.id },
      orderBy: { number: 'asc' },
    })
    return found.map(({ email, name, state }) => [email, name, state])
  }
  const files = () => service.db.importFile.count({ where: { organizationId: organization.id } })
  return { organization, admin, sendQuestions, sendPeople, rows, people, files }
}

const text = (html: string) =>
  html
    .slice(html.indexOf('<main'))
    .replace(/<select.*?<\/select>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
/** Selected meanings in the menus, in order. */
const meaningsIn = (html: string) =>
  [...html.matchAll(/<select [^>]*name="column"[^>]*>(.*?)<\/select>/gs)].map(
    ([, options]) => / value="([^"]*)" selected/.exec(options!)?.[1],
  )

describe('the check of columns', () => {
  it('shows columns with values, unused columns, and omitted rows, and imports nothing before it is confirmed', async () => {
    const { admin, sendQuestions, rows, files } = await setUp()
    const { headers } = await sendQuestions(
      'Question,Option 1,Option 2,Correct,Difficulty\nCapital of Peru?,Quito,Lima,2,easy\nWhich?,x,y,7,hard\n',
    )
    const path = headers.location!
    expect(path).toContain('/imports/')
    const page = await admin.get(path)
    expect(meaningsIn(page.text)).toEqual(['text', 'option:1', 'option:2', 'right', ''])
    for (const words of [
      'Column “Difficulty” is not used.',
      'Capital of Peru?',
      'The right answer “7” is not an option. Left out.',
      '1 question can be added to the library, 1 row is left out.',
    ])
      expect(text(page.text)).toContain(words)
    expect(await rows()).toEqual([])
    expect(await confirmColumns(admin, path)).toContain('/questions/imports/')
    expect((await rows()).map(({ state }) => state)).toEqual(['ready', 'refused'])
    expect(await files()).toBe(0)
  })

  it('shows the preview again if a menu was changed, and imports what the preview shows', async () => {
    const { admin, sendQuestions, rows } = await setUp()
    const { headers } = await sendQuestions('Question,Option 1,Option 2,Correct,Level\nCapital of Peru?,Quito,Lima,2,3\n')
    const path = headers.location!
    const { shown } = fieldsIn(await admin.get(path))
    const column = ['text', 'option:1', 'option:2', 'right', 'points']
    const changed = await admin.post(path, { shown: shown!, column, action: 'continue' })
    expect(changed.headers.location).toBe(`${path}?changed=yes`)
    expect(await rows()).toEqual([])
    const page = await admin.get(changed.headers.location!)
    expect(meaningsIn(page.text)).toEqual(column)
    expect(text(page.text)).toContain('The preview follows what you chose.')
    await confirmColumns(admin, path)
    expect(await rows()).toMatchObject([{ state: 'ready', question: { input: { points: 3 } } }])
  })

  it('remembers meanings by heading for the organization, with a notice', async () => {
    const { admin, sendQuestions } = await setUp()
    const other = await setUp()
    const sheet = 'Question,Answer,Level\nWho?,Ann,3\n'
    const path = (await sendQuestions(sheet)).headers.location!
    await admin.post(path, { shown: '', column: ['text', 'right', 'points'] })
    await confirmColumns(admin, path)
    const next = await admin.get((await sendQuestions('LEVEL,Question,Answer\n2,Where?,Rome\n')).headers.location!)
    expect(meaningsIn(next.text)).toEqual(['points', 'text', 'right'])
    expect(text(next.text)).toContain('As you chose for an earlier file.')
    const elsewhere = await other.admin.get((await other.sendQuestions(sheet)).headers.location!)
    expect(meaningsIn(elsewhere.text)).toEqual(['text', 'right', ''])
  })

  it('offers both readings of numbers that are the number of one option and the text of another', async () => {
    const { admin, sendQuestions } = await setUp()
    const path = (await sendQuestions('Question,Option 1,Option 2,Option 3,Correct\n1+1?,2,3,4,2\n')).headers.location!
    const page = await admin.get(path)
    expect(text(page.text)).toContain('1 question can be read in two ways')
    await admin.post(path, { shown: fieldsIn(page).shown!, use: '4=rightByText' })
    const chosen = await admin.get(path)
    expect(meaningsIn(chosen.text).at(-1)).toBe('rightByText')
    expect(text(chosen.text)).toContain('2 (right) 3 4')
  })

  it('reads candidates from a workbook, and judges a column “Address” by its values', async () => {
    const { admin, sendPeople, people } = await setUp()
    const book = workbook([
      ['Name', 'Address', 'Contact', 'Days'],
      ['Ann Lee', '1 High St', 'ann@example.com', 7],
      ['Ben Roy', '2 High St', 'ben@example', ''],
      ['Ann Lee', '1 High St', 'ANN@example.com', ''],
    ])
    const path = (await sendPeople(book)).headers.location!
    const page = await admin.get(path)
    expect(meaningsIn(page.text)).toEqual(['name', '', 'email', 'days'])
    for (const words of [
      'It is recognized by its values.',
      'Not an email address. Left out.',
      'Same address as row 2. Left out.',
      'nothing is sent yet',
    ])
      expect(text(page.text)).toContain(words)
    expect(await people()).toEqual([])
    expect(await confirmColumns(admin, path)).toContain('/invites/batches/')
    expect(await people()).toEqual([
      ['ann@example.com', 'Ann Lee', 'ready'],
      ['ben@example', 'Ben Roy', 'invalid'],
      ['ANN@example.com', 'Ann Lee', 'repeated'],
    ])
  })

  it('offers a column with names if most people have none', async () => {
    const { admin, sendPeople } = await setUp()
    const path = (await sendPeople('Email,Person\na@example.com,Ann Lee\nb@example.com,Ben Roy\n')).headers.location!
    const page = await admin.get(path)
    expect(text(page.text)).toContain('2 of 2 people have no name')
    await admin.post(path, { shown: fieldsIn(page).shown!, use: '1=name' })
    expect(meaningsIn((await admin.get(path)).text)).toEqual(['email', 'name'])
  })

  it('has no button to continue without a column of addresses', async () => {
    const { admin, sendPeople } = await setUp()
    const page = await admin.get((await sendPeople('Name,Phone\nAnn,123\n')).headers.location!)
    expect(text(page.text)).toContain('Choose the column with the email addresses')
    expect(page.text).not.toContain('value="continue"')
  })

  it('uses the encoding and the row of headings that a person chooses', async () => {
    const { admin, sendPeople } = await setUp()
    const list = Buffer.concat([
      Buffer.from('List of spring,\nName,Email\nG'),
      Buffer.from([0xf6]),
      Buffer.from('ran,a@example.com\n'),
    ])
    const path = (await sendPeople(list)).headers.location!
    const page = await admin.get(path)
    expect(text(page.text)).toContain('Göran')
    expect(text(page.text)).toContain('The file does not say how its letters are stored.')
    await admin.post(path, { shown: '', encoding: 'windows-1251', headingLine: '2', delimiter: ',' })
    expect(text((await admin.get(path)).text)).toContain('Gцran')
    await admin.post(path, { shown: '', encoding: 'windows-1251', headingLine: '1', delimiter: ',' })
    expect(text((await admin.get(path)).text)).toContain('List of spring')
  })

  it.each([
    [
      'an old Excel file',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('Workbook', 'utf16le')]),
      'This is an old Excel file (.xls). Save it as .xlsx, and choose it again.',
    ],
    [
      'a PDF',
      Buffer.from('%PDF-1.4'),
      'This is a PDF. Choose the file that it was made from, or copy its content into a spreadsheet, one row each.',
    ],
  ])('rejects %s by name', async (_, bytes, mistake) => {
    const { sendQuestions, sendPeople } = await setUp()
    for (const answer of [await sendQuestions(bytes), await sendPeople(bytes)])
      expect([answer.status, mistakesIn(answer)]).toEqual([422, [mistake]])
  })

  it('is open only to the member who uploaded the file, for a day', async () => {
    const { organization, admin, sendPeople, files } = await setUp()
    const path = (await sendPeople('Email,Phone\na@example.com,1\n')).headers.location!
    const colleague = await signInAs(service, organization.id, ['admin'])
    expect((await colleague.get(path)).status).toBe(404)
    expect((await colleague.post(path, { action: 'continue' })).status).toBe(404)
    expect((await admin.get(path)).status).toBe(200)
    const createdAt = new Date(service.clock.now().getTime() - DAY_MS)
    await service.db.importFile.updateMany({ where: { organizationId: organization.id }, data: { createdAt } })
    await deleteExpiredImportFiles(service.system)
    expect(await files()).toBe(0)
  })
})
