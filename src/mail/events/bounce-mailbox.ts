import type { FetchMessageObject, ImapFlow, ImapFlowError } from 'imapflow'
import type { Log } from '../../domain/context.ts'
import { withoutAddresses } from '../../domain/mails/mail-outage.ts'

export type ImapAddress = {
  host: string
  port: number | undefined
  /** True for TLS from the start; otherwise STARTTLS is required before the login. */
  isSecure: boolean
  user: string
  password: string
  folder: string
  tls: { servername?: string; rejectUnauthorized?: boolean }
}

/** Processes the start of a mail. @returns true if it was processed; other mails stay unread. */
export type TakeMail = (start: Buffer) => Promise<boolean>

export type BounceMailbox = {
  /**
   * Processes unread mails and marks processed ones as read. Other mails, and mails that can't be fetched, are skipped from then on: they get a
   * keyword, or, if the server supports none, each process remembers them.
   *
   * @param isOver true to leave the remaining mails for the next run.
   * @returns the number of processed mails.
   * @throws Error if the server fails; errors of `take`.
   */
  takeUnread: (take: TakeMail, isOver: () => boolean) => Promise<number>
  /** Aborts all connections. */
  close: () => void
}

/** Bytes read per mail. A bounce's report precedes the copy of the original mail. */
const MAX_BYTES = 256 * 1024
/** Mails fetched per request. */
const AT_ONCE = 20
const PATIENCE = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 }

/** Opens only the folder of bounces to this domain. */
export function createBounceMailbox(address: ImapAddress, { domain, log }: { domain: string; log: Log }): BounceMailbox {
  const open = new Set<ImapFlow>()
  const marks = { dealtWith: '\\Seen', anothers: `NotOf-${domain}` }
  /** Last UID that was processed. A recreated folder has a new uidValidity, and its UIDs start again at 1. */
  let lookedAt = { uidValidity: 0n, uid: 0 }
  const use = <T>(work: (client: ImapFlow) => Promise<T>) => useClient(address, open, work)
  const leaveOut = (failed: number[], uids: number[], error: unknown) => {
    if (uids.length > 1 && failed.length === uids.length) throw error // the server is at fault, not the mails
    for (const uid of failed) log.warn({ uid }, 'a mail in the mailbox of notices can not be fetched, and is left out')
    lookedAt.uid = uids.at(-1)!
  }

  async function takeUnread(take: TakeMail, isOver: () => boolean): Promise<number> {
    let taken = 0
    /** UIDs being fetched. */
    let asked: number[] = []
    let refused: unknown
    const taking: TakeMail = (start) =>
      take(start).catch((error) => {
        refused = error
        throw error
      })
    const takeThese = async (client: ImapFlow, uids: number[]) => {
      asked = uids
      const mails = await client.fetchAll(uids, { uid: true, source: { maxLength: MAX_BYTES } }, { uid: true })
      asked = []
      taken += await takeMails(client, mails, taking, marks)
    }
    const takeAll = async (client: ImapFlow) => {
      const { uidValidity } = client.mailbox as { uidValidity: bigint }
      if (lookedAt.uidValidity !== uidValidity) lookedAt = { uidValidity, uid: 0 }
      const unread = await findUnread(client, { after: lookedAt.uid, without: marks.anothers })
      for (let i = 0; i < unread.length && !isOver(); i += AT_ONCE) {
        const uids = unread.slice(i, i + AT_ONCE)
        await takeThese(client, uids)
        lookedAt.uid = uids.at(-1)!
      }
    }
    /** Fetches each mail over its own connection, since a single bad mail may end a connection. @returns UIDs that can't be fetched. */
    const takeEach = async (uids: number[]) => {
      const failed: number[] = []
      for (const uid of uids)
        await use((client) => takeThese(client, [uid])).catch((error) => {
          if (asked.length === 0) throw error
          asked = []
          failed.push(uid)
        })
      return failed
    }
    const goOn = async (): Promise<void> => {
      try {
        await use(takeAll)
      } catch (error) {
        const uids = asked
        asked = []
        if (uids.length === 0) throw error
        leaveOut(await takeEach(uids), uids, error)
        await goOn()
      }
    }
    await goOn().catch((error) => {
      throw refused ?? error
    })
    return taken
  }
  return {
    takeUnread,
    close: () => {
      for (const client of open) client.close()
    },
  }
}

/** Logs in and opens the folder. @returns the number of unread mails. @throws Error. */
export const countUnread = (address: ImapAddress): Promise<number> =>
  useClient(address, new Set(), async (client) => (await findUnread(client, { after: 0 })).length)

/** `n:*` always includes the last mail, however low its UID, so the result is filtered. */
async function findUnread(client: ImapFlow, { after, without }: { after: number; without?: string }): Promise<number[]> {
  const mark = without !== undefined && { unKeyword: without }
  const found = await client.search({ seen: false, ...mark, uid: `${after + 1}:*` }, { uid: true })
  if (!found) throw Object.assign(new Error('The server does not say which mails are unread'), { code: 'NoSearch' })
  return found.filter((uid) => uid > after).sort((one, other) => one - other)
}

type Marks = { dealtWith: string; anothers: string }

/** Marks mails after they were stored. After a crash in between they are fetched again and recognized. @returns the number of processed mails. */
async function takeMails(client: ImapFlow, mails: FetchMessageObject[], take: TakeMail, marks: Marks): Promise<number> {
  const [taken, others]: [number[], number[]] = [[], []]
  for (const { uid, source } of mails) if (source) ((await take(source)) ? taken : others).push(uid)
  const mark = (uids: number[], flag: string) => uids.length === 0 || client.messageFlagsAdd(uids, [flag], { uid: true })
  if (!(await mark(taken, marks.dealtWith)))
    throw Object.assign(new Error('What was read can not be marked as read'), { code: 'ReadOnly' })
  await mark(others, marks.anothers) // without keywords on the server, lookedAt remembers them until the process ends
  return taken.length
}

async function useClient<T>(address: ImapAddress, open: Set<ImapFlow>, work: (client: ImapFlow) => Promise<T>): Promise<T> {
  const { host, port, isSecure, user, password, folder, tls } = address
  const { ImapFlow } = await import('imapflow') // few installations need it
  const client = new ImapFlow({
    ...{ host, secure: isSecure, tls, ...PATIENCE, auth: { user, pass: password } },
    ...{ logger: false, disableAutoIdle: true, maxLiteralSize: 2 * MAX_BYTES },
    ...(port !== undefined && { port }),
    ...(!isSecure && { doSTARTTLS: true }),
  })
  client.on('error', () => {}) // the pending command rejects with it
  open.add(client)
  try {
    await client.connect()
    await client.mailboxOpen(folder)
    const result = await work(client)
    await client.logout()
    return result
  } catch (error) {
    throw new Error(describe(error as ImapFlowError, password))
  } finally {
    client.close()
    open.delete(client)
  }
}

/** Describes the error in the server's words. The error itself contains the commands, with the password. */
function describe(
  { message, responseText, response, code, errors }: ImapFlowError & { errors?: Error[] },
  password: string,
): string {
  const said = responseText ?? (typeof response === 'string' ? response : undefined)
  const words = [message || errors?.[0]?.message || code, said && said !== message ? said : undefined].filter(Boolean)
  return withoutAddresses(words.join(': ')).replaceAll(password, '…')
}
