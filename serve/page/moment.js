// Events: a tile that stands for all photos that a camera took within seconds.
import * as api from "./api.js";

// photosOf returns all photos of the event of a tile, in the order of time. It fails if they
// are other ones than those that the tile stood for.
export async function photosOf({ id, event }) {
  const all = [];
  let cursor;
  do {
    const page = await api.images({ view: "all", event: id, limit: 500, cursor });
    all.push(...page.images);
    cursor = page.next;
  } while (cursor);
  if (all.filter(counts).length !== event.size) {
    throw new Error("This event has other photos by now: look again.");
  }
  return all;
}

const counts = (photo) => photo.by !== "detector";

// allIdsOf returns the ids of the photos for which tiles stand.
export const allIdsOf = (tiles) => gather(tiles, (photos) => photos);

// idsOf returns what a decision about tiles is about: of an event its open photos, or all if
// none is open, so that what was decided photo by photo stays.
export const idsOf = (tiles) => gather(tiles, (photos) => {
  const open = photos.filter((photo) => !photo.by);
  return open.length > 0 ? open : photos;
});

async function gather(tiles, choose) {
  const each = await Promise.all(tiles.map(async (tile) =>
    (tile.event ? choose((await photosOf(tile)).filter(counts)) : [tile]).map(({ id }) => id)));
  return each.flat();
}
