/** The requested page of a list. Pages count from 1. */
export type PageRequest = { number: number | 'last'; size: number }

/** A page of a list, and the length of the whole list. A page beyond the end has no items. @property isMore true if the list is cut. */
export type ListPage<T> = { items: T[]; total: number; page: number; pageSize: number; isMore?: boolean }

/** Order of a list: by one field, and by the id where that is equal. */
export type Order<Field extends string> = { field: Field; direction: 'asc' | 'desc' }

export const NEWEST_FIRST = { field: 'createdAt', direction: 'desc' } as const

/** The order for Prisma, with the id as tie-break in the same direction: no two rows are equal, so that none moves between two pages. */
export const totalOrder = <Field extends string>({ field, direction }: Order<Field>) => [
  { [field]: direction },
  { id: direction },
]

export const pageCount = (total: number, size: number): number => Math.ceil(total / size)

/** The number of the requested page of a list of that length: an empty list has a first page. */
export const pageNumber = ({ number, size }: PageRequest, total: number): number =>
  number === 'last' ? Math.max(1, pageCount(total, size)) : number

/** A range of rows, counted from 0. */
export type Window = { skip: number; take: number }

/** Counts first, so that a page beyond the end needs no second query. */
export async function readPage<T>(
  page: PageRequest,
  count: () => Promise<number>,
  find: (window: Window) => Promise<T[]>,
): Promise<ListPage<T>> {
  const total = await count()
  const number = pageNumber(page, total)
  const skip = (number - 1) * page.size
  const items = skip < total ? await find({ skip, take: page.size }) : []
  return { items, total, page: number, pageSize: page.size }
}
