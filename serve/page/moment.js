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

// idsOf returns what a decision about tiles is about: of an event its open photos, or all if
// none is open, so that what was decided photo by photo stays.
export async function idsOf(tiles) {
  const each = await Promise.all(tiles.map(async (tile) => {
    if (!tile.event) {
      return [tile.id];
    }
    const photos = (await photosOf(tile)).filter(counts);
    const open = photos.filter((photo) => !photo.by);
    return (open.length > 0 ? open : photos).map(({ id }) => id);
  }));
  return each.flat();
}
